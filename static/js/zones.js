// The reader's own time next to the venue's, never instead of it: one switch, the same on every page.
// The choice is stored in this browser, and only after the switch was used.
const KEY = "plenary:zone";
const OWN = "auto";
const bar = document.querySelector(".zones");
const button = bar?.querySelector("button");
const note = document.createElement("span");
// Labels and patterns come from templates/_zone.html.
const labels = bar?.dataset;
const language = document.documentElement.lang;
let select;
let watcher;

function isZone(name) {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}

// The stored choice: a zone, OWN for that of this device, or nothing. Invalid zones are removed.
function kept() {
  try {
    const zone = localStorage.getItem(KEY);
    if (zone === null || zone === OWN || isZone(zone)) {
      return zone;
    }
    localStorage.removeItem(KEY);
  } catch {
    // Without storage the choice lasts as long as the page is open.
  }
  return null;
}

function keep(zone) {
  try {
    if (zone === null) {
      localStorage.removeItem(KEY);
    } else {
      localStorage.setItem(KEY, zone);
    }
  } catch {
    // As above.
  }
}

// Browsers still list these cities under former names.
const RENAMED = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Godthab": "America/Nuuk",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Europe/Kiev": "Europe/Kyiv",
};

function today(name) {
  const newer = RENAMED[name];
  return newer && isZone(newer) ? newer : name;
}

function own() {
  return today(Intl.DateTimeFormat().resolvedOptions().timeZone);
}

const formats = new Map();

function parts(moment, timeZone, options, language = "en-US") {
  const key = `${timeZone} ${language} ${Object.keys(options)}`;
  if (!formats.has(key)) {
    formats.set(key, new Intl.DateTimeFormat(language, { timeZone, ...options }));
  }
  return Object.fromEntries(formats.get(key).formatToParts(moment).map(({ type, value }) => [type, value]));
}

const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const DAY = { weekday: "short", day: "numeric", month: "short" };
const DATE = { year: "numeric", month: "2-digit", day: "2-digit" };

function filled(pattern, values) {
  return pattern.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}

function clock(moment, zone) {
  const { hour, minute } = parts(moment, zone, CLOCK);
  return `${hour}:${minute}`;
}

function day(moment, zone) {
  return filled(labels.day, parts(moment, zone, DAY, language === "en" ? "en-US" : language));
}

function date(moment, zone) {
  const { year, month, day } = parts(moment, zone, DATE);
  return `${year.padStart(4, "0")}-${month}-${day}`;
}

// Short names that browsers lack, of zones without daylight saving time.
const NAMED = {
  "Africa/Johannesburg": "SAST",
  "Africa/Lagos": "WAT",
  "Africa/Nairobi": "EAT",
  "Asia/Hong_Kong": "HKT",
  "Asia/Seoul": "KST",
  "Asia/Tokyo": "JST",
};

// "CEST" where a zone has a short name, else "GMT+5:45".
function zoneName(moment, zone) {
  if (NAMED[zone]) {
    return NAMED[zone];
  }
  const names = ["en-US", "en-GB", "en-AU"].map(
    (language) => parts(moment, zone, { timeZoneName: "short" }, language).timeZoneName,
  );
  return names.find((name) => /^[A-Z]+$/.test(name)) ?? names[0];
}

// "Wed 7 Apr, 00:15 to 01:15 JST": a day is named where it is not the one that the venue's time has.
function words(first, last, zone) {
  const [start, end] = [new Date(first), new Date(last)];
  const differs = (moment, written) => date(moment, zone) !== written.slice(0, 10);
  const [before, after] = [zoneName(start, zone), zoneName(end, zone)];
  const startDay = differs(start, first) ? `${day(start, zone)}, ` : "";
  if (start.getTime() === end.getTime()) {
    return `${startDay}${clock(start, zone)} ${before}`;
  }
  const isNewDay = differs(end, last) && date(end, zone) !== date(start, zone);
  const from = `${startDay}${clock(start, zone)}${before === after ? "" : ` ${before}`}`;
  const to = `${isNewDay ? `${day(end, zone)}, ` : ""}${clock(end, zone)} ${after}`;
  return filled(labels.range, { start: from, end: to });
}

function isSame(moment, written, zone) {
  return date(moment, zone) === written.slice(0, 10) && clock(moment, zone) === written.slice(11, 16);
}

// The elements of one time: the rest of its range, and the name of its zone.
function lastOf(time) {
  let last = time;
  for (let next = last.nextSibling; next; next = next.nextSibling) {
    if (next.nodeType === Node.TEXT_NODE && next.data.trim() === "") {
      continue;
    }
    const belongs = next instanceof Element && (next.matches(".tz, .second") || next.querySelector(":scope > .tz, :scope > time[data-until]"));
    if (!belongs) {
      break;
    }
    last = next;
  }
  return last;
}

function show(root, zone) {
  for (const time of root.querySelectorAll('time[datetime*="T"]:not([data-until], [data-beside])')) {
    const first = time.getAttribute("datetime");
    const last = time.dataset.end ?? first;
    if (Number.isNaN(Date.parse(first)) || Number.isNaN(Date.parse(last)) || isSame(new Date(first), first, zone)) {
      continue;
    }
    const mine = document.createElement("span");
    mine.className = "mine";
    const lead = document.createElement("span");
    lead.className = "hidden";
    lead.textContent = labels.sentence;
    mine.append(lead, words(first, last, zone));
    time.dataset.beside = "";
    lastOf(time).after(" ", mine);
  }
}

function clear() {
  watcher?.disconnect();
  for (const mine of document.querySelectorAll(".mine")) {
    if (mine.previousSibling?.nodeType === Node.TEXT_NODE && mine.previousSibling.data === " ") {
      mine.previousSibling.remove();
    }
    mine.remove();
  }
  for (const time of document.querySelectorAll("time[data-beside]")) {
    delete time.dataset.beside;
  }
}

function option(value, label) {
  const made = document.createElement("option");
  made.value = value;
  made.textContent = label;
  return made;
}

// The list of zones is built when the switch is turned on.
function choose(zone) {
  if (!select) {
    select = document.createElement("select");
    select.setAttribute("aria-label", labels.label);
    const names = (Intl.supportedValuesOf?.("timeZone") ?? []).map(today).sort();
    select.append(option(OWN, filled(labels.device, { zone: own().replaceAll("_", " ") })));
    select.append(...[...new Set([...names, "UTC"])].map((name) => option(name, name.replaceAll("_", " "))));
    select.addEventListener("change", () => turn(select.value));
  }
  if (![...select.options].some(({ value }) => value === zone)) {
    select.append(option(zone, zone.replaceAll("_", " ")));
  }
  select.value = zone;
  button.before(select);
}

// Whether the page has times, all of them already in the reader's zone.
function saysNothing() {
  return document.querySelector('main time[datetime*="T"]') !== null && document.querySelector(".mine") === null;
}

function turn(zone) {
  clear();
  note.textContent = "";
  button.setAttribute("aria-pressed", String(zone !== null));
  keep(zone);
  if (zone === null) {
    select?.remove();
    return;
  }
  choose(zone);
  const name = zone === OWN ? own() : zone;
  show(document.body, name);
  note.textContent = saysNothing() ? labels.same : "";
  watcher = new MutationObserver(() => show(document.body, name));
  watcher.observe(document.querySelector("main"), { childList: true, subtree: true });
}

if (button) {
  note.setAttribute("role", "status");
  button.before(note);
  button.addEventListener("click", () => turn(button.getAttribute("aria-pressed") === "true" ? null : OWN));
  const zone = kept();
  if (zone !== null) {
    turn(zone);
  }
}
