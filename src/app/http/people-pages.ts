import { readFileSync } from 'node:fs'
import { findProjectPath } from '../database/project-path.ts'
import { cached, type StaticAnswer } from './static-answer.ts'

/** A field of a form. */
interface Field {
  readonly name: string
  readonly label: string
  readonly type: 'email' | 'password' | 'text'
  readonly autocomplete: string
  readonly needed: boolean
}

/** A page with one form, which a script sends to the API. */
interface Page {
  readonly path: string
  readonly title: string
  readonly method: 'POST' | 'PUT'
  readonly to: string
  /** The form sends the token of a one-time link. */
  readonly withToken: boolean
  readonly fields: readonly Field[]
  readonly button: string
  readonly done: string
  /** Says first who is signed in. */
  readonly greets?: true
}

const email: Field = { name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', needed: true }
const password: Field = { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', needed: true }
const newPassword: Field = {
  ...password,
  label: 'New password, of at least 12 characters',
  autocomplete: 'new-password',
}
const code: Field = {
  name: 'code',
  label: 'Code of your authenticator app or a recovery code, if you have one',
  type: 'text',
  autocomplete: 'one-time-code',
  needed: false,
}
const firstName: Field = { name: 'first_name', label: 'First name', type: 'text', autocomplete: 'given-name', needed: false }
const lastName: Field = { name: 'last_name', label: 'Last name', type: 'text', autocomplete: 'family-name', needed: false }
const signedIn = 'Done. You are signed in.'

/** The pages that people need before there is a console: those of links that serve once, and one to sign in. */
const pages: readonly Page[] = [
  {
    path: '/console',
    title: 'Sign in',
    method: 'POST',
    to: '/auth/login',
    withToken: false,
    fields: [email, password, code],
    button: 'Sign in',
    done: signedIn,
    greets: true,
  },
  {
    path: '/console/setup',
    title: 'Become the owner, or get back in',
    method: 'POST',
    to: '/auth/setup',
    withToken: true,
    fields: [email, newPassword, firstName, lastName],
    button: 'Set the password',
    done: signedIn,
  },
  {
    path: '/console/reset-password',
    title: 'Set a new password',
    method: 'PUT',
    to: '/auth/password',
    withToken: true,
    fields: [newPassword, code],
    button: 'Set the password',
    done: signedIn,
  },
  {
    path: '/invite',
    title: 'Accept the invitation',
    method: 'POST',
    to: '/v1/admin/users/invites/accept',
    withToken: true,
    fields: [firstName, lastName],
    button: 'Accept',
    done: 'Done. You belong to the organisation. If keys are shown below, keep them: they are shown this once.',
  },
]

/** Nothing from elsewhere and nothing inline. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}

const files = [
  ['/console/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/console/page.css', 'page.css', 'text/css; charset=utf-8'],
] as const

/** Returns what reads each page for people, and its script and style: when somebody first asks. */
export const peoplePages = (): readonly (readonly [path: string, answer: () => StaticAnswer])[] => [
  ...pages.map((page) => [page.path, once(() => cached('text/html; charset=utf-8', htmlOf(page), pageHeaders))] as const),
  ...files.map(([path, file, type]) => [path, once(() => cached(type, readFileSync(locate(file), 'utf8'), pageHeaders))] as const),
]

function once(make: () => StaticAnswer): () => StaticAnswer {
  let made: StaticAnswer | null = null
  return () => (made ??= make())
}

function locate(file: string): string {
  const path = findProjectPath(`assets/pages/${file}`)
  if (path === null) throw new Error(`The installation is not complete: assets/pages/${file} is missing.`)
  return path
}

/** Everything in it is our own text: what requests send never comes into a page. */
const htmlOf = ({ title, method, to, withToken, fields, button, done, greets }: Page): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title} - Gatehouse</title>
    <link rel="stylesheet" href="/console/page.css" />
    <script defer src="/console/page.js"></script>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      <form data-method="${method}" data-path="${to}" data-token="${withToken ? 'yes' : 'no'}" data-greets="${greets ? 'yes' : 'no'}" data-done="${done}">
        ${fields.map(inputOf).join('\n        ')}
        <button>${button}</button>
      </form>
      <p><a id="provider" hidden></a></p>
      <p id="said" role="status"></p>
      <p id="fault" role="alert"></p>
      <pre id="keys"></pre>
      <button id="leave" hidden>Sign out</button>
      <noscript><p>This page needs its script. Without one, send the form to ${to} yourself.</p></noscript>
    </main>
  </body>
</html>
`

const inputOf = ({ name, label, type, autocomplete, needed }: Field): string =>
  `<label>${label} <input name="${name}" type="${type}" autocomplete="${autocomplete}"${needed ? ' required' : ''} /></label>`
