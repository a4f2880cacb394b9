// Suggestions while typing under each search box: results, and pages to go to. `/` and Ctrl-K open the search as
// a dialog on every page; empty, it lists the sections and days. Without this script the boxes are plain forms.
const PAUSE = 150;
const SHORTEST = 2;
let counted = 0;

// A combobox with a list of links, which the form has until its next letters.
class Suggestions {
  constructor(form, { isDialog = false } = {}) {
    this.form = form;
    this.isDialog = isDialog;
    this.box = form.querySelector("input[name=q]");
    this.list = document.createElement("div");
    this.status = document.createElement("p");
    this.chosen = null;
    this.asked = null;
    this.build();
    this.box.addEventListener("input", () => this.typed());
    this.box.addEventListener("keydown", (event) => this.pressed(event));
    form.addEventListener("submit", () => this.stop());
    // A press on an option must not move the focus before the link is followed.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    if (!isDialog) {
      form.addEventListener("focusout", (event) => {
        if (!form.contains(event.relatedTarget)) {
          this.stop();
          this.open(false);
        }
      });
    }
  }

  build() {
    counted += 1;
    this.name = `search-options-${counted}`;
    this.list.id = this.name;
    this.list.className = "options";
    this.list.hidden = true;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", this.form.dataset.label);
    this.status.className = "hidden";
    this.status.setAttribute("role", "status");
    this.form.append(this.list, this.status);
    for (const [name, value] of Object.entries({
      role: "combobox",
      autocomplete: "off",
      "aria-autocomplete": "list",
      "aria-controls": this.list.id,
      "aria-expanded": "false",
      "aria-keyshortcuts": "/ Control+K",
    })) {
      this.box.setAttribute(name, value);
    }
  }

  options() {
    return [...this.list.querySelectorAll("[role=option]")];
  }

  choose(option) {
    this.chosen?.removeAttribute("aria-selected");
    this.chosen = option ?? null;
    if (this.chosen) {
      this.chosen.setAttribute("aria-selected", "true");
      this.chosen.scrollIntoView({ block: "nearest" });
      this.box.setAttribute("aria-activedescendant", this.chosen.id);
    } else {
      this.box.removeAttribute("aria-activedescendant");
    }
  }

  open(isOpen) {
    this.list.hidden = !isOpen;
    this.box.setAttribute("aria-expanded", String(isOpen));
    this.choose(null);
  }

  // Ignore the response to the last request.
  stop() {
    clearTimeout(this.timer);
    this.asked?.abort();
    this.asked = null;
  }

  async suggest() {
    this.stop();
    const mine = new AbortController();
    this.asked = mine;
    try {
      const words = encodeURIComponent(this.box.value.trim());
      const answer = await fetch(`${this.form.dataset.suggest}?q=${words}`, { signal: mine.signal });
      const found = new DOMParser().parseFromString(answer.ok ? await answer.text() : "", "text/html");
      if (mine !== this.asked) {
        return;
      }
      this.list.replaceChildren(...found.querySelectorAll("[role=group]"));
      const options = this.options();
      options.forEach((option, place) => {
        option.id = `${this.name}-${place + 1}`;
      });
      this.status.textContent = this.form.dataset.found.replace("{number}", String(options.length));
      this.open(options.length > 0);
      this.list.scrollTop = 0;
    } catch {
      // A newer request, or no network: the form still works.
    }
  }

  typed() {
    this.stop();
    const letters = this.box.value.trim().length;
    // The dialog offers pages before a letter is typed.
    if (letters < SHORTEST && !this.isDialog) {
      this.list.replaceChildren();
      this.status.textContent = "";
      this.open(false);
    } else {
      this.timer = setTimeout(() => this.suggest(), letters ? PAUSE : 0);
    }
  }

  // Up and down walk through the options and, between last and first, back to what was typed.
  walk(step) {
    if (this.list.hidden && this.options().length) {
      this.open(true);
    }
    const stops = [null, ...this.options()];
    this.choose(stops.at((stops.indexOf(this.chosen) + step) % stops.length));
  }

  pressed(event) {
    if (event.isComposing) {
      return;
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.walk(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && this.chosen) {
      event.preventDefault();
      this.chosen.click();
    } else if (event.key === "Escape" && !this.isDialog && !this.list.hidden) {
      // The first Escape closes the list, the next one is the browser's: it empties the box.
      event.preventDefault();
      this.stop();
      this.open(false);
    } else if (event.key === "Escape" && this.isDialog) {
      event.preventDefault();
      this.form.closest("dialog").close();
    }
  }
}

// The form of the header in a dialog, made when it is first opened.
class Palette {
  constructor(form) {
    this.original = form;
  }

  build() {
    const form = this.original.cloneNode(true);
    const dialog = document.createElement("dialog");
    dialog.className = "palette";
    dialog.setAttribute("aria-label", form.querySelector("input[name=q]").getAttribute("aria-label"));
    dialog.append(form);
    // What the header's own box has of the script.
    form.querySelectorAll(".options, [role=status]").forEach((one) => one.remove());
    this.suggestions = new Suggestions(form, { isDialog: true });
    // A press beside the dialog, or on a link to a place of this page.
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("a")) {
        dialog.close();
      }
    });
    dialog.addEventListener("close", () => this.suggestions.stop());
    document.body.append(dialog);
    return dialog;
  }

  show() {
    this.dialog ??= this.build();
    const { box } = this.suggestions;
    if (!this.dialog.open) {
      box.value = this.original.querySelector("input[name=q]").value;
      this.dialog.showModal();
      this.suggestions.suggest();
    }
    box.focus();
    box.select();
  }
}

function isTyping(target) {
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

document.querySelectorAll("form[data-suggest]").forEach((form) => new Suggestions(form));

const header = document.querySelector("form.search[data-suggest]");
if (header) {
  const palette = new Palette(header);
  document.addEventListener("keydown", (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const isSlash = event.key === "/" && isPlain && !isTyping(event.target);
    const isCommand =
      event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if ((isSlash || isCommand) && !event.isComposing) {
      event.preventDefault();
      palette.show();
    }
  });
}
