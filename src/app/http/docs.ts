import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findProjectPath } from '../database/project-path.ts'
import { cached, type StaticAnswer } from './static-answer.ts'

/** Nothing from elsewhere, nothing inline but the small pictures of the style sheet: the page works without a network and reaches none. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' }
const [html, script, style] = ['text/html; charset=utf-8', 'text/javascript; charset=utf-8', 'text/css; charset=utf-8']

/** The API page: three files of ours in `assets/docs`, which draw `/openapi.json` with Swagger UI. */
const files: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/docs', 'assets/docs/index.html', html],
  ['/docs/docs.js', 'assets/docs/docs.js', script],
  ['/docs/docs.css', 'assets/docs/docs.css', style],
  ['/docs/swagger-ui-bundle.js', 'swagger-ui-dist/swagger-ui-bundle.js', script],
  ['/docs/swagger-ui.css', 'swagger-ui-dist/swagger-ui.css', style],
]

/** Returns what reads each file of the API page: when somebody first asks, since an idle process should not hold two megabytes. */
export const docsAnswers = (): readonly (readonly [path: string, answer: () => StaticAnswer])[] =>
  files.map(([path, file, type]) => {
    let answer: StaticAnswer | null = null
    return [path, () => (answer ??= cached(type, readFileSync(locate(file), 'utf8'), headers))]
  })

function locate(file: string): string {
  const own = file.startsWith('assets/') ? findProjectPath(file) : join(packages, file)
  if (own === null) throw new Error(`The installation is not complete: ${file} is missing.`)
  return own
}

const packages = dirname(dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')))
