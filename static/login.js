// The link carries its secret in the fragment, which no server log and no Referer ever sees.
const form = document.getElementById("login");

function enter() {
  const secret = location.hash.slice(1);
  if (!secret || secret === "main") return;
  history.replaceState(null, "", location.pathname);
  form.elements.link.value = secret;
  form.hidden = true;
  document.getElementById("working").hidden = false;
  form.submit();
}

addEventListener("hashchange", enter); // the link may be opened in a tab that shows this page
enter();
