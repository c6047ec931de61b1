/** Keeps the gauges on account pages current, and removes a new key when its page is left. */
{
  const everyMilliseconds = 5000;
  const place = document.querySelector("[data-gauges]");

  const show = ({ name, used, free, share }) => {
    const gauge = place.querySelector(`[data-gauge="${name}"]`);
    gauge.querySelector("[data-used]").textContent = used;
    gauge.querySelector("[data-free]").textContent = free;
    gauge.querySelector("[data-share]").value = share;
  };

  // A person who has been signed out gets a 401, so polling ends.
  const renew = async () => {
    const answer = await fetch(place.dataset.gauges, { cache: "no-store" }).catch(() => null);
    if (answer?.status === 401) clearInterval(timer);
    if (answer?.ok) for (const gauge of await answer.json()) show(gauge);
  };
  const timer =
    place &&
    setInterval(() => {
      if (document.visibilityState === "visible") void renew();
    }, everyMilliseconds);

  // A browser may keep a page in memory and show it again after "back" or "forward".
  addEventListener("pagehide", () => {
    for (const secret of document.querySelectorAll("[data-once]")) secret.remove();
  });
}
