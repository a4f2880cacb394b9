// Results while typing, under the search box of every page: a combobox with a list of links. `/` focuses the
// box. Without this script the box is a plain form.
const PAUSE = 150;
const form = document.querySelector("form.search");
const box = form?.querySelector("input[name=q]");
const list = document.createElement("div");
const said = document.createElement("p");
let asked = null;
let timer;
let chosen = null;

function options() {
  return [...list.querySelectorAll("[role=option]")];
}

function choose(option) {
  chosen?.removeAttribute("aria-selected");
  chosen = option ?? null;
  if (chosen) {
    chosen.setAttribute("aria-selected", "true");
    chosen.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", chosen.id);
  } else {
    box.removeAttribute("aria-activedescendant");
  }
}

function open(isOpen) {
  list.hidden = !isOpen;
  box.setAttribute("aria-expanded", String(isOpen));
  choose(null);
}

// Ignore the response to the last request.
function stop() {
  clearTimeout(timer);
  asked?.abort();
  asked = null;
}

async function suggest() {
  stop();
  asked = new AbortController();
  const mine = asked;
  try {
    const answer = await fetch(`${form.dataset.suggest}?q=${encodeURIComponent(box.value)}`, { signal: mine.signal });
    const found = new DOMParser().parseFromString(answer.ok ? await answer.text() : "", "text/html");
    if (mine !== asked) {
      return;
    }
    list.replaceChildren(...found.querySelectorAll("[role=option]"));
    const number = list.children.length;
    said.textContent = form.dataset.found.replace("0", String(number));
    open(number > 0);
  } catch {
    // A newer request, or no network: the form still works.
  }
}

function typed() {
  stop();
  if (box.value.trim().length < 2) {
    list.replaceChildren();
    said.textContent = "";
    open(false);
  } else {
    timer = setTimeout(suggest, PAUSE);
  }
}

// Up and down walk through the options and, between last and first, back to what was typed.
function walk(step) {
  if (list.hidden && list.children.length) {
    open(true);
  }
  const stops = [null, ...options()];
  choose(stops.at((stops.indexOf(chosen) + step) % stops.length));
}

function pressed(event) {
  if (event.isComposing) {
    return;
  }
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    walk(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && chosen) {
    event.preventDefault();
    chosen.click();
  } else if (event.key === "Escape" && !list.hidden) {
    // The first Escape closes the list, the next one is the browser's: it empties the box.
    event.preventDefault();
    stop();
    open(false);
  }
}

function isTyping(target) {
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function comeHere(event) {
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key === "/" && isPlain && !isTyping(event.target)) {
    event.preventDefault();
    box.focus();
    box.select();
  }
}

if (box) {
  list.id = "search-options";
  list.className = "options";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", form.dataset.label);
  said.className = "hidden";
  said.setAttribute("role", "status");
  form.append(list, said);
  for (const [name, value] of Object.entries({
    role: "combobox",
    autocomplete: "off",
    "aria-autocomplete": "list",
    "aria-controls": list.id,
    "aria-expanded": "false",
    "aria-keyshortcuts": "/",
  })) {
    box.setAttribute(name, value);
  }
  box.addEventListener("input", typed);
  box.addEventListener("keydown", pressed);
  form.addEventListener("submit", stop);
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) {
      stop();
      open(false);
    }
  });
  // A press on an option must not move the focus before the link is followed.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  document.addEventListener("keydown", comeHere);
}
