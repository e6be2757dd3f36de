// Copies a text and says so; without a clipboard, as at an insecure address, selects its place for the reader's own keys.
export const copy = async (text, place, message) => {
  try {
    await navigator.clipboard.writeText(text);
    message.textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(place);
    message.textContent = "Selected: copy it with your keyboard.";
  }
};
