/** Returns a text on one line and no longer than `most` UTF-16 units, for headers, subjects and messages that name input of others. */
export const oneLine = (text: string, most: number): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, most)
    .toWellFormed()
