// Keeps the time at the venue current. On a new day the page is fetched again: all of it is another.
const clock = document.querySelector("[data-clock]");
const timeZone = clock?.dataset.clock;

function now(options) {
  return new Intl.DateTimeFormat("en-GB", { timeZone, ...options }).format(new Date());
}

const today = () => now({ dateStyle: "short" });

if (clock) {
  const first = today();
  const tell = () => {
    if (today() === first) {
      clock.textContent = now({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    } else if (!document.hidden) {
      location.reload();
    }
  };
  tell();
  setInterval(tell, 5_000);
  document.addEventListener("visibilitychange", tell);
}
