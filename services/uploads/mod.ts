/** Uploads that can be resumed, of files of releases. See README.md. */
export { type NewUpload, type SentPart, Uploads, type UploadView } from "./uploads.ts";
