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

// The conversation follows a growing answer, unless the reader has scrolled up to read.
let following = true;
document.addEventListener("scroll", (event) => {
  const talk = event.target;
  if (talk.id === "talk") following = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 60;
}, true);
new MutationObserver((changes) => {
  const talk = document.getElementById("talk");
  if (talk && following && changes.some((change) => talk.contains(change.target))) talk.scrollTop = talk.scrollHeight;
}).observe(document.documentElement, { childList: true, subtree: true, characterData: true });
