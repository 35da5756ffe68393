import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Deps } from './deps.ts'

/**
 * An application of a library, such as an authorization server, at paths from the origin's root. It reads requests and writes answers by itself, as its
 * standard describes. It asks for no key, has no transaction of a request, and stands in no API description of ours.
 */
export interface MountedApp {
  /** The origin's paths that it answers, and all below those that end with a slash. Letters count in their case. */
  readonly paths: readonly `/${string}`[]
  /** Answers a request. `refused`: a credential in it was not good, which counts against the address. Throws before anything is written. */
  handle(request: MountedRequest): Promise<'answered' | 'refused'>
}

/** A request to an application of a library. */
export interface MountedRequest {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly deps: Deps
  readonly clientAddress: string
  /** Makes a page for people. Text from a request has to be escaped in `main`. */
  readonly page: (title: string, main: string) => HtmlPage
}

/** A page with the headers that it needs. */
export interface HtmlPage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}
