// Op: draws the tables and pictures of a page. Their HTML was escaped when it was written; no script in it would run.
const place = document.getElementById("packed");
const about = document.documentElement.dataset;
unpacked(document.getElementById("data").textContent)
  .then((buffer) => {
    place.outerHTML = new TextDecoder().decode(buffer);
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) target.scrollIntoView();
    about.ready = "1";
  })
  .catch((error) => {
    place.textContent = `The tables can't be shown here: ${error.message}`;
    about.failed = error.message;
  });
