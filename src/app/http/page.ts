import { readFileSync } from 'node:fs'
import { findProjectPath } from '../database/project-path.ts'
import type { StaticAnswer } from './static-answer.ts'

export const html = 'text/html; charset=utf-8'
export const script = 'text/javascript; charset=utf-8'
export const style = 'text/css; charset=utf-8'

/** Returns the headers of a page: no content from elsewhere and none inline. `images`: the sources of pictures. */
export const pageHeaders = (images: readonly string[] = ["'self'"]): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    ...(images.length === 0 ? [] : [`img-src ${images.join(' ')}`]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
})

interface Page {
  readonly title: string
  /** The file of its script, such as `page.js`; null: it has none. */
  readonly script: string | null
  /** HTML. */
  readonly main: string
}

/** Returns the HTML of a page for people. Text from a request has to be escaped in it. */
export const pageOf = ({ title, script: file, main }: Page): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} - Gatehouse</title>
    <link rel="icon" href="/favicon.ico" />
    <link rel="stylesheet" href="/console/page.css" />${file === null ? '' : `\n    <script defer src="/console/${file}"></script>`}
  </head>
  <body>
    <main>
      ${main}
    </main>
  </body>
</html>
`

/** Returns an answer that is made on the first request for it, and kept. */
export function whenAsked(make: () => StaticAnswer): () => StaticAnswer {
  let made: StaticAnswer | null = null
  return () => (made ??= make())
}

/** Reads a file of the installation, such as `assets/pages/page.css`. Throws when it is missing. */
export function readAsset(file: string): string {
  const path = findProjectPath(file)
  if (path === null) throw new Error(`The installation is not complete: ${file} is missing.`)
  return readFileSync(path, 'utf8')
}
