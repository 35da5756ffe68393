/** A session that keeps more than this takes the places of several. */
const bytesOfPlace = 8 * 1024

/** Returns how many of `MAX_MCP_SESSIONS` a session takes that keeps so many bytes of its peer. */
export const placesOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / bytesOfPlace))
