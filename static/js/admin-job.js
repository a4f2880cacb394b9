/* Updates the page of a running import: the progress is fetched again, and when the state changes the
   page is loaded once more. Without this script the page loads itself every three seconds. */

const job = document.getElementById("job");
const PAUSE = 1000;

const stateIn = (root) => root.querySelector("[data-state]").dataset.state;

async function follow() {
  try {
    const response = await fetch(job.dataset.address, { headers: { Accept: "text/html" } });
    if (response.ok && !response.redirected) {
      const found = new DOMParser().parseFromString(await response.text(), "text/html").body;
      if (stateIn(found) !== stateIn(job)) {
        location.reload();
        return;
      }
      update(found);
    }
  } catch {
    // No network: try again.
  }
  setTimeout(follow, PAUSE);
}

/* Only changed text is replaced, so that a screen reader announces stages and not each number. */
function update(found) {
  const [bar, next] = [job.querySelector("progress"), found.querySelector("progress")];
  const [stage, foundStage] = [job.querySelector("#stage"), found.querySelector("#stage")];
  // A stopped import has no progress: its page waits for the worker that begins again.
  if (!bar || !next) return;
  if (next.hasAttribute("value")) bar.setAttribute("value", next.getAttribute("value"));
  else bar.removeAttribute("value");
  if (stage.textContent !== foundStage.textContent) stage.textContent = foundStage.textContent;
}

if (job) setTimeout(follow, PAUSE);
