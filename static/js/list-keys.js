// Keys in lists of papers, sessions and results: j and k move the focus from title to title, s presses the star
// beside it, ? lists the keys. Not while the reader types, nor with a modifier; the grid has keys of its own.

const LIST_ROW = "li, article";
const help = document.querySelector("dialog.keys");

// Agendas and filtered posters are inserted later: looked up with each key.
function titles() {
  return [...document.querySelectorAll("main .title a")].filter(
    (title) => title.closest(LIST_ROW) && !title.closest(".grid") && title.checkVisibility(),
  );
}

function row() {
  return document.activeElement.closest(`main :is(${LIST_ROW})`);
}

function move(step) {
  const all = titles();
  const here = row();
  const current = all.findIndex((title) => title.closest(LIST_ROW) === here);
  all[current < 0 ? 0 : current + step]?.focus();
}

const actions = {
  j: () => move(1),
  k: () => move(-1),
  s: () => row()?.querySelector("button.star")?.click(),
  "?": () => help.showModal(),
};

function isTyping(target) {
  return target.closest("input, select, textarea, [contenteditable]") !== null;
}

document.addEventListener("keydown", (event) => {
  const isBusy = event.isComposing || document.querySelector("dialog[open]") !== null;
  if (!isBusy && !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    actions[event.key]?.();
  }
});

for (const button of document.querySelectorAll("[data-keys]")) {
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
}
