// Papers are dragged onto sessions; M opens the choice of a paper's row, Enter plans it. The form does the rest.
"use strict";

(() => {
  const page = document.querySelector(".assign");
  const status = document.getElementById("as-status");
  if (!page || !status || !document.querySelector(".as-grip")) {
    return;
  }
  const FAR = 4;
  let drag;
  page.classList.add("has-dragging");
  const form = () => document.getElementById("assign");

  // The plan with one more move: its form takes the place of this one.
  async function plan(change, focus) {
    const data = new FormData(form());
    change(data);
    status.textContent = "";
    let fresh;
    try {
      const reply = await fetch(location.pathname, { method: "POST", body: data });
      const text = await reply.text();
      fresh = reply.ok && new DOMParser().parseFromString(text, "text/html").getElementById("assign");
    } catch {
      fresh = undefined;
    }
    // What was planned is in the bar, too; a failure is shown here alone.
    status.classList.toggle("visually-hidden", Boolean(fresh));
    if (!fresh) {
      status.textContent = form().dataset.failed;
      return;
    }
    const sessions = document.querySelector(".as-sessions").scrollTop;
    form().replaceWith(document.adoptNode(fresh));
    document.querySelector(".as-sessions").scrollTop = sessions;
    status.textContent = document.getElementById("as-count").textContent;
    const boxes = [...document.querySelectorAll(".as-paper [name=pick]")];
    // When all are planned, saving comes next.
    (boxes[Math.min(focus, boxes.length - 1)] ?? form().querySelector("[name=_save]"))?.focus();
  }

  const place = (row) => [...document.querySelectorAll(".as-paper")].indexOf(row);

  // Keyboard

  document.addEventListener("keydown", (event) => {
    const row = event.target.closest?.(".as-paper");
    const choice = row?.querySelector("select");
    if (event.key === "Escape" && drag) {
      end();
    } else if (!choice || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (event.key.toLowerCase() === "m" && event.target !== choice) {
      event.preventDefault();
      choice.focus();
      try {
        choice.showPicker();
      } catch {
        // The arrow keys choose as well.
      }
    } else if (event.key === "Enter" && event.target === choice && choice.value) {
      event.preventDefault();
      plan((data) => data.set("_plan", "1"), place(row));
    }
  });

  // Pointer: a mouse drags the whole row, a finger its handle.

  page.addEventListener("pointerdown", (event) => {
    const row = event.target.closest(".as-paper");
    const isGrip = event.target.closest(".as-grip");
    const isControl = event.target.closest("input, select, a, button");
    if (row && event.button === 0 && (isGrip || (event.pointerType === "mouse" && !isControl))) {
      drag = { row, x: event.clientX, y: event.clientY, id: event.pointerId };
    }
  });

  document.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) {
      return;
    }
    if (!drag.held) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < FAR) {
        return;
      }
      begin();
    }
    drag.held.style.left = `${event.clientX + 12}px`;
    drag.held.style.top = `${event.clientY + 12}px`;
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest(".as-session");
    if (under !== drag.target) {
      drag.target?.classList.remove("is-target");
      under?.classList.add("is-target");
      drag.target = under;
    }
  });

  function begin() {
    const { one, many } = form().dataset;
    const isPicked = drag.row.querySelector("[name=pick]").checked;
    const number = isPicked ? document.querySelectorAll(".as-paper [name=pick]:checked").length : 1;
    drag.isPicked = isPicked;
    drag.held = document.createElement("div");
    drag.held.className = "as-held";
    drag.held.textContent = number === 1 ? one : many.replace("{n}", number);
    document.body.append(drag.held);
    document.body.classList.add("is-dragging");
  }

  function end() {
    drag.held?.remove();
    drag.target?.classList.remove("is-target");
    document.body.classList.remove("is-dragging");
    drag = undefined;
  }

  document.addEventListener("pointerup", (event) => {
    if (!drag || event.pointerId !== drag.id) {
      return;
    }
    const { row, target, isPicked, held } = drag;
    end();
    if (held) {
      // The label under the pointer would tick the box.
      const stop = (click) => click.preventDefault();
      addEventListener("click", stop, true);
      setTimeout(() => removeEventListener("click", stop, true), 0);
    }
    if (target) {
      const put = (data) => {
        data.set("_put", target.dataset.key);
        if (!isPicked) {
          data.delete("all");
          data.set("pick", row.querySelector("[name=pick]").value);
        }
      };
      plan(put, place(row));
    }
  });

  document.addEventListener("pointercancel", () => drag && end());
})();
