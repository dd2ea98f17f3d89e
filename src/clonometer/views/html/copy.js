/* Commands with a button that copies them. */

function setUpCopy(button, code) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
}

for (const button of document.querySelectorAll(".command button")) setUpCopy(button, button.previousElementSibling);
