/** Removes what ended long ago. */
export {
  DataRetention,
  type DataRetentionOptions,
  RETAINED,
  type Retained,
  type RetentionDays,
} from "./retention.ts";
