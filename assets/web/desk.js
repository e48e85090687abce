// A citation opens the card of its passage, also one that is folded away, and shows where it is.
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest("a.cite");
  if (!link) return;
  const card = document.getElementById(link.getAttribute("href").slice(1));
  if (!card) return;
  event.preventDefault();
  for (let fold = card; fold; fold = fold.parentElement && fold.parentElement.closest("details")) fold.open = true;
  for (const other of document.querySelectorAll(".card.target")) other.classList.remove("target");
  card.classList.add("target");
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  card.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  card.querySelector("summary").focus({ preventScroll: true });
});
