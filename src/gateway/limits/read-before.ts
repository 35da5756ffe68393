/** The part of a prompt that its provider keeps, and that no body shows. */
export interface ReadBefore {
  readonly tokens: number
  /** Those of them that are sound. */
  readonly audio: number
  /** True: it is not known how much it is, so that it may fill the window. */
  readonly isOpen: boolean
}
