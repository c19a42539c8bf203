import { z } from "zod";

/** The version of the form of backups. */
export const FORMAT = 1;

/** The first entry of an archive: enough to refuse one from a newer muster. */
export const HEADER_NAME = "muster-backup.json";

/** The last entry of an archive. */
export const MANIFEST_NAME = "manifest.json";

export const headerSchema = z.object({
  format: z.int().min(1),
  muster: z.string().regex(/^[\w.+-]{1,64}$/),
});

const fileSchema = z.object({
  name: z.string(),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** What told this content from any other in the data folder; null if nothing did. */
  state: z.string().nullable(),
});

export const manifestSchema = headerSchema.extend({
  created_at: z.iso.datetime(),
  /** Where the app database was; a backup does not hold one in PostgreSQL. */
  database: z.enum(["sqlite", "postgres"]).default("sqlite"),
  /** The version of the app database's schema; 0 if the backup does not hold it. */
  schema: z.int().min(0),
  files: z.array(fileSchema),
});

/** A file in a backup. */
export type StoredFile = z.infer<typeof fileSchema>;

/** What a backup holds. */
export type Manifest = z.infer<typeof manifestSchema>;
