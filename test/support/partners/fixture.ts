/** The requests of a partner's check, and the partner's answers to a text that it lets pass and to one that it does not. */
export interface PartnerFixture {
  readonly id: string
  readonly phase: 'input' | 'output'
  readonly parameters: Readonly<Record<string, unknown>>
  /** The default address. */
  readonly url: string
  /** The contents of the call; of the headers and the body at least this. */
  readonly headers: Readonly<Record<string, string | RegExp>>
  readonly body: Readonly<Record<string, unknown>>
  readonly pass: unknown
  readonly fail: unknown
  /** The input of the check, the partner's answer to it, and the resulting text. */
  readonly changed?: {
    readonly parameters?: Readonly<Record<string, unknown>>
    readonly answer: unknown
    readonly text: string
  }
}

/** The caller's request. */
export const asked = 'Call me on 555-0100, please.'
/** The provider's answer. */
export const answered = 'Hello from the emulator.'
/** With the number taken out. */
export const redacted = 'Call me on [PHONE], please.'
