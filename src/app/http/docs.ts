import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { html, pageHeaders, readAsset, script, style, whenAsked } from './page.ts'
import { cached, type StaticAnswer } from './static-answer.ts'

/** The small pictures of the style sheet are inline. */
const headers = pageHeaders(["'self'", 'data:'])

/** The API page: three files of ours in `assets/docs`, which draw `/openapi.json` with Swagger UI. */
const files: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/docs', 'assets/docs/index.html', html],
  ['/docs/docs.js', 'assets/docs/docs.js', script],
  ['/docs/docs.css', 'assets/docs/docs.css', style],
  ['/docs/swagger-ui-bundle.js', 'swagger-ui-dist/swagger-ui-bundle.js', script],
  ['/docs/swagger-ui.css', 'swagger-ui-dist/swagger-ui.css', style],
]

/** Returns the readers of the files of the API page, which load on the first request: an idle process should not hold two megabytes. */
export const docsAnswers = (): readonly (readonly [path: string, answer: () => StaticAnswer])[] =>
  files.map(([path, file, type]) => [path, whenAsked(() => cached(type, read(file), headers))])

const read = (file: string): string => (file.startsWith('assets/') ? readAsset(file) : readFileSync(join(packages, file), 'utf8'))

const packages = dirname(dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')))
