import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProjectPath } from '../database/project-path.ts'
import { cached, type StaticAnswer } from './static-answer.ts'

/** Nothing from elsewhere, nothing inline: the page works without a network and cannot be made to talk to one. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const files = [
  ['/docs', 'index.html', 'text/html; charset=utf-8'],
  ['/docs/docs.js', 'docs.js', 'text/javascript; charset=utf-8'],
  ['/docs/docs.css', 'docs.css', 'text/css; charset=utf-8'],
] as const

/** The API page: three files of our own that render `/openapi.json`. */
export function loadDocs(): readonly (readonly [path: string, answer: StaticAnswer])[] {
  const folder = findProjectPath('assets/docs')
  if (folder === null) throw new Error('The installation is not complete: assets/docs is missing.')
  return files.map(([path, file, type]) => {
    const text = readFileSync(join(folder, file), 'utf8')
    return [
      path,
      cached(type, text, { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' }),
    ]
  })
}
