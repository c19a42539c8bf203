/** Keys with which accounts sign their commits. */
export {
  MOST_KEYS,
  type SigningKey,
  SigningKeys,
  type SigningKeysOptions,
} from "./signing_keys.ts";
