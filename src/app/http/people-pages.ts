import { escapeHtml } from '../../lib/text/escape-html.ts'
import { html, pageHeaders, pageOf, readAsset, script, style, whenAsked } from './page.ts'
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
interface FormPage {
  readonly path: string
  readonly title: string
  readonly method: 'POST' | 'PUT'
  readonly to: string
  /** The form sends the token of a one-time link. */
  readonly withToken: boolean
  readonly fields: readonly Field[]
  readonly button: string
  readonly done: string
  /** Shows first the name of the signed-in person. */
  readonly greets?: true
  /** Sets a password by the token that the answer holds, and so signs in. */
  readonly thenPassword?: true
  /** The page to which the person goes on in the end. */
  readonly next?: string
  /** A notice above the form. */
  readonly notice?: string
  /** Another page that helps. */
  readonly help?: { readonly path: string; readonly text: string }
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

const signIn: FormPage = {
  path: '/console/sign-in',
  title: 'Sign in',
  method: 'POST',
  to: '/auth/login',
  withToken: false,
  fields: [email, password, code],
  button: 'Sign in',
  done: signedIn,
  greets: true,
  next: '/console',
  help: { path: '/console/forgot-password', text: 'Forgot your password?' },
}

/** The pages that people need outside the console: those of links that serve once, and one to sign in. */
const pages: readonly FormPage[] = [
  signIn,
  {
    path: '/console/forgot-password',
    title: 'Have a link to a new password sent',
    method: 'POST',
    to: '/auth/password/reset',
    withToken: false,
    fields: [email],
    button: 'Send the link',
    done: 'Done. If this address has an account here with a password, a link is on its way to it.',
    help: { path: '/console/sign-in', text: 'Sign in' },
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
    next: '/console/start',
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
    next: '/console',
  },
  {
    path: '/invite',
    title: 'Accept the invitation',
    method: 'POST',
    to: '/v1/admin/users/invites/accept',
    withToken: true,
    fields: [firstName, lastName, { ...newPassword, needed: false }],
    button: 'Accept',
    done: 'Done. You belong to the organisation. If keys are shown below, keep them: they are shown this once.',
    greets: true,
    thenPassword: true,
    help: { path: '/console/sign-in', text: 'Sign in' },
  },
]

const letInPath = '/console/let-in'

/** The paths of the pages for people; the console is below the same segment. */
export const pagePaths: readonly string[] = [...pages.map(({ path }) => path), letInPath]

/** The page for the decision on a program. Its script fills in the name of the program, as text. */
const letIn = pageOf({
  title: 'Let a program in',
  script: 'let-in.js',
  main: `<h1>Let a program use an MCP server as you?</h1>
      <p id="fault" role="alert"></p>
      <form hidden>
        <p><strong id="client"></strong> asks to use an MCP server with your rights, for 30 days.</p>
        <dl>
          <dt>Vouched for by</dt>
          <dd id="host"></dd>
          <dt>The answer goes to</dt>
          <dd id="redirect"></dd>
          <dt>Server</dt>
          <dd><select id="server" aria-label="Server"></select></dd>
          <dt>Tools that it could call</dt>
          <dd id="tools"></dd>
        </dl>
        <p id="loopback" hidden>The answer goes to your own machine: any program there may be the one that asks. Go on only if you have just begun this.</p>
        <button value="deny">Do not allow</button>
        <button value="allow">Allow</button>
      </form>
      <noscript><p>This page needs its script.</p></noscript>`,
})

const files = [
  ['/console/page.js', 'page.js', script],
  ['/console/let-in.js', 'let-in.js', script],
  ['/console/page.css', 'page.css', style],
] as const

/** Returns the readers of the pages for people, with their script and style, which load on the first request. */
export const peoplePages = (): readonly (readonly [path: string, answer: () => StaticAnswer])[] => [
  [letInPath, whenAsked(() => cached(html, letIn, pageHeaders()))] as const,
  ...pages.map((page) => [page.path, whenAsked(() => cached(html, htmlOf(page), pageHeaders()))] as const),
  ...files.map(([path, file, type]) => [path, whenAsked(() => cached(type, readAsset(`assets/pages/${file}`), pageHeaders()))] as const),
]

/** Returns the page to sign in at the place of the console, with the reason that the console is not there. */
export const signInPage = (notice: string): string => htmlOf({ ...signIn, notice })

/** Everything in it is our own text: contents of requests never come into a page. */
const htmlOf = ({ title, method, to, withToken, fields, button, done, greets, thenPassword, next, notice, help }: FormPage): string =>
  pageOf({
    title,
    script: 'page.js',
    main: `<h1>${title}</h1>${notice === undefined ? '' : `\n      <p>${escapeHtml(notice)}</p>`}
      <form data-method="${method}" data-path="${to}" data-token="${withToken ? 'yes' : 'no'}" data-greets="${greets ? 'yes' : 'no'}" data-then="${thenPassword ? 'password' : ''}" data-next="${next ?? ''}" data-done="${done}">
        ${fields.map(inputOf).join('\n        ')}
        <button>${button}</button>
      </form>
      <p><a id="provider" hidden></a></p>${help === undefined ? '' : `\n      <p><a id="help" href="${help.path}">${help.text}</a></p>`}
      <p id="said" role="status"></p>
      <p id="fault" role="alert"></p>
      <pre id="keys"></pre>
      <button id="leave" hidden>Sign out</button>
      <noscript><p>This page needs its script. Without one, send the form to ${to} yourself.</p></noscript>`,
  })

const inputOf = ({ name, label, type, autocomplete, needed }: Field): string =>
  `<label id="${name}_field">${label} <input name="${name}" type="${type}" autocomplete="${autocomplete}"${needed ? ' required' : ''} /></label>`
