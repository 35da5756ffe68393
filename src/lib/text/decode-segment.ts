/** Decodes a segment of a path; returns one whose percent signs escape nothing as it is. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
