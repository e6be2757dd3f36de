// What a reader chose before, on any page; empty where storage is blocked, and then a choice holds for its page.
export const remembered = (key) => {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
};

export const remember = (key, value) => {
  try {
    localStorage.setItem(key, value);
  } catch {
    // as above
  }
};
