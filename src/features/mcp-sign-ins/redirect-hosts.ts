const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Returns whether a host name is that of the person's own machine. */
export const isLoopback = (hostname: string): boolean => loopback.has(hostname)

/** The place to which the answer for a program goes. */
export interface RedirectPlace {
  readonly host: string
  /** Any program on the person's machine may be there. */
  readonly isLoopback: boolean
}

/** Returns where a checked address leads. */
export function placeOf(uri: string): RedirectPlace {
  const { host, hostname } = new URL(uri)
  return { host, isLoopback: isLoopback(hostname) }
}
