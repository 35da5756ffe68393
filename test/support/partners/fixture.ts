/** How a partner's check is asked, and what the partner answers to a text that it lets pass and to one that it does not. */
export interface PartnerFixture {
  readonly id: string
  readonly phase: 'input' | 'output'
  readonly parameters: Readonly<Record<string, unknown>>
  /** Where it goes when no other address is given. */
  readonly url: string
  /** What the call holds; of the headers and the body at least this. */
  readonly headers: Readonly<Record<string, string | RegExp>>
  readonly body: Readonly<Record<string, unknown>>
  readonly pass: unknown
  readonly fail: unknown
  /** What the check is told, what the partner answers to it, and what the text becomes. */
  readonly changed?: {
    readonly parameters?: Readonly<Record<string, unknown>>
    readonly answer: unknown
    readonly text: string
  }
}

/** What the caller asks. */
export const asked = 'Call me on 555-0100, please.'
/** What the provider answers. */
export const answered = 'Hello from the emulator.'
/** With the number taken out. */
export const redacted = 'Call me on [PHONE], please.'
