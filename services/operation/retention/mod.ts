/** Removes what ended long ago. */
export {
  countRetained,
  DataRetention,
  type DataRetentionOptions,
  DAYS_OF,
  RETAINED,
  type Retained,
  type RetentionDays,
} from "./retention.ts";
