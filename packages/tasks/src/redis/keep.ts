/** Seconds for which the record of an ended task is kept, unless told otherwise: 30 days. */
export const KEEP_SECONDS = 30 * 24 * 60 * 60;
