/** Examines a data folder and its machine; every finding says how to fix it. */
export { type DoctorOptions, examineData, surveyData } from "./doctor.ts";
export { linesOf } from "./stored.ts";
export { rehearseUpgrade, type UpgradeReport } from "./upgrade.ts";
export { type Finding, findingsOf, type Level, reasonOf } from "./finding.ts";
