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

// Writes into a box of the page as a reader would, then presses a button.
const tell = (selector, words, button) => {
  const box = document.querySelector(selector);
  if (!box || !button) return;
  box.value = words;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => button.click())); // the box tells the page first
};

// What was pressed is written anew: who presses by keyboard (a click without a count) goes on from a place that stays.
const goOn = (event, selector) => {
  if (event.detail === 0) document.querySelector(selector)?.focus();
};

// A choice asks its question as if it had been typed, a reading is undone; while an answer runs they do nothing.
document.addEventListener("click", (event) => {
  const pressed = event.target.closest && event.target.closest("button.choice, button.reread");
  const ask = document.getElementById("ask");
  if (!pressed || !ask || ask.disabled) return;
  if (pressed.classList.contains("choice")) tell("#question textarea", pressed.textContent, ask);
  else tell("#reading :is(textarea, input)", pressed.dataset.reading, document.getElementById("reread"));
  goOn(event, "#question textarea");
});

// A word of the station's own is removed.
document.addEventListener("click", (event) => {
  const pressed = event.target.closest && event.target.closest("button.unword");
  if (!pressed) return;
  tell("#word-gone :is(textarea, input)", pressed.dataset.word, document.getElementById("word-drop"));
  goOn(event, "#word-alias input");
});

// A document opens at the passage pressed or at its beginning, a passage shows its page; marking words to copy does neither.
let opened = "";
document.addEventListener("click", (event) => {
  const pressed = event.target.closest && event.target.closest("[data-open], .see, .chunk[data-leaf], button.unwatch");
  if (!pressed || (!event.target.closest("button") && String(window.getSelection()))) return;
  if (pressed.dataset.open) {
    opened = pressed.dataset.open;
    tell("#doc-wanted :is(textarea, input)", opened, document.getElementById("doc-open"));
  } else if (pressed.dataset.folder) {
    tell("#folder-gone :is(textarea, input)", pressed.dataset.folder, document.getElementById("folder-drop"));
    goOn(event, "#folder :is(textarea, input)");
  } else if (pressed.dataset.leaf !== document.querySelector(".leaf")?.dataset.leaf) {
    tell("#leaf-wanted :is(textarea, input)", pressed.dataset.leaf, document.getElementById("leaf-open"));
  }
});

// Waits until the page shows what it was told to, two seconds at most, then goes on.
const whenShown = (find, go, tries = 40) => {
  const found = find();
  if (found && found.offsetParent) go(found);
  else if (tries > 0) setTimeout(whenShown, 50, find, go, tries - 1);
};
const bringUp = (part) => {
  document.getElementById("doc-left").scrollTop = 0;
  if (part.matches(".chunk")) part.scrollIntoView({ block: "start" });
  part.focus({ preventScroll: true });
};

// One reads on from the passage cited, else from the document's title; back in the list, from its row.
window.nongdaOpened = () => {
  const cited = () => document.querySelector("#chunks .chunk.target") ?? document.querySelector("#doc-title h2");
  whenShown(() => document.querySelector("#doc-title h2"), () => setTimeout(() => bringUp(cited()), 50));
};
window.nongdaClosed = () => {
  const row = `#documents button[data-open="${CSS.escape(opened.split("#")[0])}"]`;
  whenShown(() => document.querySelector(row), (button) => button.focus(), 10);
};

// A page turned brings its passages into view, unless one of them is there already.
window.nongdaTurned = () => setTimeout(() => {
  const leaf = document.querySelector("#leaf .leaf")?.dataset.leaf;
  const frame = document.getElementById("doc-left")?.getBoundingClientRect();
  const passages = [...document.querySelectorAll(`#chunks .chunk[data-leaf="${leaf}"]`)];
  const isSeen = (passage) => {
    const place = passage.getBoundingClientRect();
    return place.bottom > frame.top + 20 && place.top < frame.bottom - 20;
  };
  if (frame && passages.length && !passages.some(isSeen)) passages[0].scrollIntoView({ block: "start" });
}, 100);

// The box for a standard name offers those that the page has found for what is typed.
document.addEventListener("focusin", (event) => {
  if (event.target.matches("#word-term input")) event.target.setAttribute("list", "terms");
});

// Hands a table out as a file; its first character tells spreadsheets the encoding.
window.nongdaSave = (text, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/plain;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

// The conversation follows a growing answer, unless the reader has scrolled up to read.
let following = true;
document.addEventListener("scroll", (event) => {
  const talk = event.target;
  if (talk.id === "talk") following = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 60;
}, true);
const follow = () => {
  const talk = document.getElementById("talk");
  if (talk && following) talk.scrollTop = talk.scrollHeight;
};
const frame = new ResizeObserver(follow); // a growing question box makes the conversation's frame smaller
let framed = null;
new MutationObserver((changes) => {
  const talk = document.getElementById("talk");
  if (!talk) return;
  if (talk !== framed) frame.observe((framed = talk));
  if (changes.some((change) => talk.contains(change.target))) follow();
}).observe(document.documentElement, { childList: true, subtree: true, characterData: true });
