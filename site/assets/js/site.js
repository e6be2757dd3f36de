// What every page has.
import "./theme-button.js";
import "./folds.js";
import "./chart.js";
import "./chart-values.js";
import "./picture.js";
import "./cite.js";
import "./later.js";
