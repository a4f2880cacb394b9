// The timetable editor: positions and moves of sessions. The state is in the inputs of the form; this reads,
// changes and undoes it. Drawing: timetable-board.js; input: timetable-hands.js; clashes: timetable-
// clashes.js.
"use strict";

(() => {
  const form = document.getElementById("timetable");
  const board = document.getElementById("tt-board");
  if (!form || !board || !form.querySelector(".tt-row")) {
    return;
  }
  const DAY = 1440;
  const MAX_WIDTH = 320;
  // Minimum drawn length, large enough for touch.
  const MIN_MINUTES = 20;
  const AXIS = 52;
  const MIN_WIDTH = 132;
  const FIELDS = ["day", "start", "end", "room"];
  const words = form.dataset;
  const status = document.getElementById("tt-status");
  const undoButton = document.getElementById("tt-undo");
  const rows = new Map();
  const steps = [];
  let leaving = false;

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  const minutes = (clock) => {
    const [hours, rest] = clock.split(":").map(Number);
    return (hours * 60 + rest - Number(words.begins) * 60 + DAY) % DAY;
  };
  const clock = (at) => {
    const all = (at + Number(words.begins) * 60 + DAY) % DAY;
    return `${String(Math.floor(all / 60)).padStart(2, "0")}:${String(all % 60).padStart(2, "0")}`;
  };

  function adopt(item) {
    const row = { key: item.dataset.key, item, inputs: {}, parent: item.dataset.parent };
    for (const name of FIELDS) {
      row.inputs[name] = item.querySelector(`[name="s${row.key}-${name}"]`);
    }
    row.fields = item.querySelector(".tt-fields");
    row.fixed = "fixed" in item.dataset;
    row.extra = Number(item.dataset.extra);
    row.pick = item.querySelector("[name=pick]");
    row.title = item.querySelector(".tt-title");
    row.parts = item.querySelector(`[name="s${row.key}-parts"]`);
    // The script moves the parts already; the site must not do it again.
    row.parts?.removeAttribute("name");
    row.values = () => FIELDS.map((name) => row.inputs[name].value);
    row.last = row.values();
    rows.set(row.key, row);
  }

  // The position of a session: its day, minutes since the day began, its room.
  function place(row, values = row.values()) {
    const [day, from, to, room] = values;
    const start = minutes(from);
    const end = minutes(to);
    return { day, start, end: end + (end < start ? DAY : 0) + row.extra * DAY, room };
  }

  function write(row, at) {
    row.inputs.day.value = at.day;
    row.inputs.start.value = clock(at.start);
    row.inputs.end.value = clock(at.end);
    row.inputs.room.value = at.room;
  }

  // The day so many days later, if the page has it.
  function later(day, days) {
    const found = new Date(`${day}T00:00:00Z`);
    found.setUTCDate(found.getUTCDate() + days);
    return found.toISOString().slice(0, 10);
  }

  // A position so many days and minutes later, on another day past the end of its day.
  function shifted(at, days, by) {
    const over = Math.floor((at.start + by) / DAY);
    const start = at.start + by - over * DAY;
    return { ...at, day: later(at.day, days + over), start, end: start + at.end - at.start };
  }

  function fits(row, at) {
    const now = place(row, row.last);
    const lasts = now.end > DAY && at.end - at.start === now.end - now.start;
    const isDay = [...row.inputs.day.options].some((one) => one.value === at.day);
    return isDay && at.start >= 0 && at.start < DAY && at.end >= at.start && (at.end <= DAY || lasts);
  }

  // Move the parts of a session with it, at the same distance.
  function follow(whole, from, to, changes) {
    const days = (Date.parse(to.day) - Date.parse(from.day)) / (DAY * 60000);
    for (const row of rows.values()) {
      if (row.parent === whole.key && whole.parts?.checked && !changes.has(row.key) && !row.fixed) {
        const at = place(row, row.last);
        const room = at.room === from.room ? to.room : at.room;
        changes.set(row.key, { ...shifted(at, days, to.start - from.start), room });
      }
    }
  }

  // Move sessions together, all or none. Returns whether they moved.
  function move(wanted) {
    const changes = new Map(wanted);
    for (const [key, at] of wanted) {
      follow(rows.get(key), place(rows.get(key)), at, changes);
    }
    const blocked = [...changes].find(([key, at]) => rows.get(key).fixed || !fits(rows.get(key), at));
    if (blocked) {
      say(words.stays, rows.get(blocked[0]));
      return false;
    }
    for (const [key, at] of changes) {
      write(rows.get(key), at);
    }
    settle([...changes.keys()]);
    say(place(rows.get(wanted[0][0])).day === words.day ? words.now : words.away, rows.get(wanted[0][0]));
    return true;
  }

  // Record the former inputs for undo, redraw, and notify the other scripts.
  function settle(keys) {
    const step = keys.map((key) => [key, rows.get(key).last]);
    if (step.every(([key, last]) => last.join("|") === rows.get(key).values().join("|"))) {
      return;
    }
    steps.push(step);
    changed();
  }

  function changed() {
    for (const row of rows.values()) {
      row.last = row.values();
    }
    draw();
    form.dispatchEvent(new CustomEvent("timetable:moved"));
  }

  function undo() {
    const step = steps.pop();
    if (!step) {
      return;
    }
    for (const [key, values] of step) {
      FIELDS.forEach((name, index) => {
        rows.get(key).inputs[name].value = values[index];
      });
    }
    changed();
    say(words.undone, rows.get(step[0][0]));
  }

  function label(row) {
    const at = place(row);
    const room = row.inputs.room.selectedOptions[0];
    const day = row.inputs.day.selectedOptions[0];
    return {
      title: row.item.dataset.title,
      start: clock(at.start),
      end: clock(at.end),
      room: at.room && room ? room.text : words.none,
      day: day ? day.text : at.day,
    };
  }

  function say(text, row) {
    status.textContent = fill(text, label(row));
  }

  // Side by side where sessions overlap in a room: [lane, lanes] of each.
  function lanes(list) {
    const found = new Map();
    let group = [];
    let until = -1;
    const close = () => {
      const count = Math.max(0, ...group.map(([, lane]) => lane + 1));
      group.forEach(([row, lane]) => found.set(row.key, [lane, count]));
      group = [];
    };
    const ends = [];
    for (const [row, at] of list.sort((a, b) => a[1].start - b[1].start)) {
      if (at.start >= until) {
        close();
        ends.length = 0;
      }
      const free = ends.findIndex((end) => end <= at.start);
      const lane = free < 0 ? ends.length : free;
      ends[lane] = Math.max(at.end, at.start + MIN_MINUTES);
      until = Math.max(until, ends[lane]);
      group.push([row, lane]);
    }
    close();
    return found;
  }

  function draw() {
    const here = [...rows.values()].map((row) => [row, place(row)]).filter(([, at]) => at.day === words.day);
    const hour = (at) => Math.floor(at / 60) * 60;
    const first = Math.max(0, hour(Math.min(DAY - 60, ...here.map(([, at]) => at.start))) - 60);
    const last = Math.min(DAY, hour(Math.max(60, ...here.map(([, at]) => Math.min(DAY, at.end + 59)))) + 60);
    let left = AXIS;
    const columns = [...rows.values().next().value.inputs.room.options].map((one) => ({ room: one.value, name: one.text }));
    columns.push(columns.shift());
    const share = (board.clientWidth - AXIS - 4) / columns.length;
    for (const column of columns) {
      column.lanes = lanes(here.filter(([, at]) => at.room === column.room));
      const laneCount = Math.max(1, ...[...column.lanes.values()].map(([, count]) => count));
      Object.assign(column, { left, width: Math.max(MIN_WIDTH, laneCount * 100, Math.min(MAX_WIDTH, share)) });
      left += column.width;
    }
    window.plenaryTimetable.paint(here, { columns, first, last, width: left, minMinutes: MIN_MINUTES });
    for (const row of rows.values()) {
      const isMoved = row.values().join("|") !== row.item.dataset.stored;
      row.item.classList.toggle("is-moved", isMoved);
      const now = row.item.querySelector(".tt-now");
      if (isMoved || now.dataset.drawn) {
        now.dataset.drawn = "true";
        now.textContent = fill("{day}, {start} – {end}, {room}", label(row));
      }
    }
    const count = [...rows.values()].filter((row) => row.item.classList.contains("is-moved")).length;
    form.querySelector(".tt-count").textContent = fill(words.count, { count });
    undoButton.hidden = steps.length === 0;
    form.classList.toggle("is-dirty", count > 0);
  }

  form.querySelectorAll(".tt-row").forEach(adopt);
  undoButton.addEventListener("click", undo);
  form.addEventListener("change", (event) => {
    const name = /^s(\d+)-/.exec(event.target.name || "");
    const row = name && rows.get(name[1]);
    if (row && event.target.value) {
      const changes = new Map();
      follow(row, place(row, row.last), place(row), changes);
      const blocked = [...changes].filter(([key, at]) => !fits(rows.get(key), at));
      blocked.forEach(([key]) => changes.delete(key));
      for (const [key, at] of changes) {
        write(rows.get(key), at);
      }
      settle([row.key, ...changes.keys()]);
      blocked.forEach(([key]) => say(words.stays, rows.get(key)));
    } else if (row && name && event.target === row.inputs.room) {
      settle([row.key]);
    }
  });
  form.addEventListener("submit", () => {
    leaving = true;
  });
  window.addEventListener("beforeunload", (event) => {
    if (!leaving && form.classList.contains("is-dirty")) {
      event.preventDefault();
    }
  });
  // `paint` comes from timetable-board.js.
  window.plenaryTimetable = { form, board, rows, words, place, move, undo, say, label, fill, clock, draw };
})();
