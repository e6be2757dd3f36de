// How many words a reader passes from where they are on a page to a place on it, in reading order.
//
// A reader comes to the top of a page, or to the place that its address names, and goes on from what they used last.
// They see the header and the footer at a glance: to a link there, the words before it in its bar count.
// What is folded, hidden, or only for screen readers is not passed; the words of a drawing are.
(() => {
  const HIDDEN = ".visually-hidden, script, style, noscript, template, textarea, title, desc";
  const wordsOf = (text) => text.match(/[^\s]*[\p{L}\p{N}][^\s]*/gu)?.length ?? 0;
  const named = (hash) => hash && document.getElementById(decodeURIComponent(hash.slice(1)));
  let from = null; // an element that was used: its words are passed
  let at = named(location.hash) || document.body; // where reading begins otherwise

  const isSeen = (text) => {
    const parent = text.parentElement;
    if (parent.closest(HIDDEN) || !parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) {
      return false;
    }
    const range = document.createRange();
    range.selectNodeContents(text);
    return [...range.getClientRects()].some(({ width, height }) => width > 1 && height > 1);
  };

  const isBefore = (one, other) => Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);

  const textsOf = function* (root) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) yield texts.currentNode;
  };

  const passed = (target) => {
    const bar = target.closest("body > header, body > footer");
    const isInAnotherBar = bar && !(from?.isConnected && bar.contains(from));
    const begin = isInAnotherBar ? bar : at;
    let words = 0;
    for (const text of textsOf(document.body)) {
      if (target.contains(text) || isBefore(target, text)) break;
      const isPassed = !isInAnotherBar && from?.isConnected && (from.contains(text) || isBefore(text, from));
      const isLater = begin.contains(text) || isBefore(begin, text);
      if (isLater && !isPassed && isSeen(text)) words += wordsOf(text.data);
    }
    return words;
  };

  globalThis.reader = {
    to: passed,
    used(element) {
      from = element;
      return [...textsOf(element)].filter(isSeen).reduce((sum, { data }) => sum + wordsOf(data), 0);
    },
    jump(hash) {
      from = null;
      at = named(hash) || document.body;
    },
    option(selection, text) {
      const all = [...selection.options];
      const taken = all.findIndex(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
      return [all[taken].value, wordsOf(all.slice(0, taken + 1).map(({ label }) => label).join(" "))];
    },
  };
})();
