// The grid: arrow keys, only the reader's stars, and a line at now. One stop of the Tab key, with the star beside
// it; then up, down, left, right, Home and End among sessions.
const grid = document.querySelector(".grid");
const links = grid ? [...grid.querySelectorAll(".slot .title a")] : [];

// The real row and column of a cell, whatever it spans.
function places() {
  return links.map((link) => {
    const box = link.closest(".slot").getBoundingClientRect();
    return { link, left: box.left, right: box.right, top: box.top, bottom: box.bottom };
  });
}

// The distance of a session in a direction; nothing if it lies elsewhere.
function distance(key, from, to) {
  const across = Math.max(0, Math.max(from.left, to.left) - Math.min(from.right, to.right) + 1);
  const along = Math.max(0, Math.max(from.top, to.top) - Math.min(from.bottom, to.bottom) + 1);
  const ahead = {
    ArrowRight: to.left - from.right,
    ArrowLeft: from.left - to.right,
    ArrowDown: to.top - from.bottom,
    ArrowUp: from.top - to.bottom,
  }[key];
  const aside = key === "ArrowRight" || key === "ArrowLeft" ? along : across;
  return ahead < -1 ? undefined : ahead + 8 * aside;
}

function next(key, link) {
  if (key === "Home" || key === "End") {
    return links.at(key === "Home" ? 0 : -1);
  }
  const all = places();
  const from = all.find((place) => place.link === link);
  let best;
  for (const to of all) {
    const far = to === from ? undefined : distance(key, from, to);
    if (far !== undefined && (best === undefined || far < best.far)) {
      best = { far, link: to.link };
    }
  }
  return best?.link;
}

function stand(link) {
  for (const other of links) {
    for (const stop of other.closest(".slot").querySelectorAll("a, button")) {
      stop.tabIndex = other === link ? 0 : -1;
    }
  }
}

// The window scrolls the whole grid: then it is no stop by itself.
function measure() {
  const scrolls = grid.scrollWidth > grid.clientWidth || grid.scrollHeight > grid.clientHeight + 1;
  grid.tabIndex = scrolls && getComputedStyle(grid).overflowX !== "visible" ? 0 : -1;
}

const EVERY = 30_000;

// The classes of a row: 287 is `r200 r80 r7`, as the filter `digits` writes it.
function rowClasses(row) {
  const figures = [...String(row)];
  return figures.map((figure, place) => `r${figure.padEnd(figures.length - place, "0")}`);
}

function moveNow() {
  const marks = grid.querySelectorAll(".now-mark, .now-rule");
  const moment = new Date();
  const row = Math.round((moment.getTime() / 1000 - Number(grid.dataset.first)) / 300) + 1;
  for (const mark of marks) {
    mark.classList.remove(...[...mark.classList].filter((name) => /^r\d/.test(name)));
    mark.classList.add(...rowClasses(Math.max(row, 1)));
    mark.hidden = row < 1 || row > Number(grid.dataset.rows);
  }
  const words = grid.querySelector(".now-mark > span");
  if (words) {
    words.textContent = moment.toLocaleTimeString("en-GB", {
      hour: "2-digit",
      minute: "2-digit",
      timeZone: grid.dataset.zone,
    });
  }
}

// Stars of talks inside: on their lines, and on the session around them, which may be too narrow for lines.
function markInside() {
  const agenda = window.plenaryAgenda;
  const keys = new Set(agenda ? agenda.starred(agenda.load()).map((star) => star.key) : []);
  for (const slot of grid.querySelectorAll(".slot[data-stars]")) {
    const holds = slot.dataset.stars.split(" ").some((key) => keys.has(key));
    slot.classList.toggle("holds-star", holds);
    for (const line of slot.querySelectorAll("li[data-star]")) {
      const isOn = keys.has(line.dataset.star);
      const words = line.querySelector(".hidden");
      line.classList.toggle("starred", isOn);
      if (isOn && !words) {
        const note = document.createElement("span");
        note.className = "hidden";
        note.textContent = ` ${grid.dataset.starred}`;
        line.querySelector("a").append(note);
      } else if (!isOn) {
        words?.remove();
      }
    }
  }
}

function offerMine(button) {
  const has = grid.querySelector('.star[aria-pressed="true"], .holds-star') !== null;
  button.hidden = !has && button.getAttribute("aria-pressed") === "false";
}

if (grid) {
  moveNow();
  setInterval(moveNow, EVERY);
  measure();
  addEventListener("resize", measure);
  const button = document.querySelector(".mine-only");
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isOn));
    grid.classList.toggle("only-mine", isOn);
    offerMine(button);
  });
  const paint = () => {
    markInside();
    offerMine(button);
  };
  document.addEventListener("plenary:painted", paint);
  paint();
}

if (links.length > 0) {
  stand(grid.querySelector(".slot:has(.live) .title a") ?? links[0]);
  grid.addEventListener("focusin", (event) => {
    const link = event.target.closest(".slot")?.querySelector(".title a");
    if (link) {
      stand(link);
    }
  });
  grid.addEventListener("keydown", (event) => {
    const link = event.target.closest(".slot")?.querySelector(".title a");
    if (!link || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const known = /^(Arrow(Up|Down|Left|Right)|Home|End)$/.test(event.key);
    const goal = known ? next(event.key, link) : undefined;
    if (known) {
      event.preventDefault();
    }
    if (goal) {
      goal.focus({ preventScroll: true });
      goal.closest(".slot").scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  });
}
