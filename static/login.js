// The link carries its secret in the fragment, which no server log and no Referer ever sees.
const form = document.getElementById("login");
const secret = location.hash.slice(1);

if (secret) {
  history.replaceState(null, "", location.pathname + location.search);
  form.elements.link.value = secret;
  form.hidden = true;
  document.getElementById("working").hidden = false;
  form.submit();
}
