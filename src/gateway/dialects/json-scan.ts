/** Finds the end of a JSON object that comes in pieces, without parsing it. A class, because it keeps its place between pieces. */
export class JsonScan {
  #depth = 0
  #inString = false
  #escaped = false
  #isWhole = false

  /** True when the object that began has ended. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  push(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const char = text.charCodeAt(at)
      if (this.#inString) this.#inside(char)
      else if (char === 0x22) this.#inString = true
      else if (char === 0x7b || char === 0x5b) this.#depth += 1
      else if (char === 0x7d || char === 0x5d) {
        this.#depth -= 1
        if (this.#depth === 0) this.#isWhole = true
      }
    }
  }

  #inside(char: number): void {
    if (this.#escaped) this.#escaped = false
    else if (char === 0x5c) this.#escaped = true
    else if (char === 0x22) this.#inString = false
  }
}
