// Sends the form of this page as JSON, with the token behind the # of its address where the form asks for one. A token goes to no log and to no
// other site so, and leaves the address as soon as it is read.
const form = document.querySelector('form')
const said = document.querySelector('#said')
const fault = document.querySelector('#fault')
const token = new URLSearchParams(location.hash.slice(1)).get('token')
if (token !== null) history.replaceState(null, '', location.pathname + location.search)

const errorIn = (answer, status) => answer?.error?.message ?? `The answer was ${status}.`

async function ask(method, path, body, headers = {}) {
  const answer = await fetch(path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { ok: answer.ok, status: answer.status, body: await answer.json().catch(() => null) }
}

async function submit() {
  fault.textContent = ''
  if (form.dataset.token === 'yes' && token === null) {
    fault.textContent = 'The address of this page lacks its token: open the whole link.'
    return
  }
  const filled = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ''))
  if (form.dataset.then === 'password') return join(filled)
  const sent = { ...filled, ...(form.dataset.token === 'yes' && { token }) }
  if (await did(form.dataset.method, form.dataset.path, sent)) finish(form.dataset.done)
}

/** Sends something. Returns the answer; null: it failed, and the page says so. */
async function did(method, path, sent) {
  const { ok, status, body } = await ask(method, path, sent)
  if (ok) return body ?? {}
  fault.textContent = errorIn(body, status)
  return null
}

function finish(text) {
  form.hidden = true
  said.textContent = text
  if (form.dataset.next) location.assign(next())
}

/** The place where the person goes on: in the console, or at a program that asks to be let in. */
function next() {
  const place = new URLSearchParams(location.search).get('return_to') ?? ''
  if (isAsking(place)) return place
  return /^\/console(?:[/?#]|$)/.test(place) ? place : form.dataset.next
}

const isAsking = (place) => /^\/oauth\/authorize\?/.test(place)

/** The request of a program outlives the way to an identity provider in this tab: it is too long for that way. */
const kept = 'gatehouse-asking'

function placeForProvider() {
  const place = next()
  if (!isAsking(place)) return place
  sessionStorage.setItem(kept, place)
  return '/console/sign-in'
}

/** Goes back to the program that waits for the person. Returns false: none does. */
function wentOn() {
  const place = isAsking(next()) ? next() : (sessionStorage.getItem(kept) ?? '')
  sessionStorage.removeItem(kept)
  if (!isAsking(place)) return false
  location.assign(place)
  return true
}

/** The answer that made the person; what fails later does not make them again. */
let joined = null

/** Makes the person of an invitation, and then the password, which signs in. */
async function join({ password, ...names }) {
  joined ??= await did(form.dataset.method, form.dataset.path, { ...names, token })
  if (joined === null) return
  // Keys are shown this once.
  if (joined.api_keys.length > 0) document.querySelector('#keys').textContent = JSON.stringify(joined.api_keys, null, 2)
  if (joined.password_token === null) return finish(form.dataset.done)
  if (await did('PUT', '/auth/password', { token: joined.password_token, password })) finish(`${form.dataset.done} You are signed in.`)
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  return submit().catch((error) => (fault.textContent = String(error)))
})

/** Tells who is signed in here; else offers the identity provider beside the password. */
async function greet() {
  const joins = form.dataset.then === 'password'
  const me = joins ? { ok: false } : await ask('GET', '/auth/me')
  const leave = document.querySelector('#leave')
  if (me.ok) {
    if (wentOn()) return
    form.hidden = true
    said.textContent = `You are signed in as ${me.body.user.email}.`
    leave.hidden = false
    leave.addEventListener('click', async () => {
      const left = await ask('POST', '/auth/logout', undefined, { 'x-csrf-token': me.body.csrf_token })
      location.assign(left.body?.logout_url ?? '/console/sign-in')
    })
    return
  }
  const ways = await ask('GET', `/auth/login${isAsking(next()) ? '' : location.search}`)
  const isLocal = ways.body?.local !== false
  if (joins) document.querySelector('#password_field').hidden = !isLocal
  else form.hidden = !isLocal
  const { provider } = ways.body ?? {}
  if (!provider) return
  const link = document.querySelector('#provider')
  link.textContent = `Sign in with ${provider.name}`
  link.href = `${provider.login_path}?return_to=${encodeURIComponent(placeForProvider())}`
  link.hidden = false
}

if (form.dataset.greets === 'yes') greet().catch((error) => (fault.textContent = String(error)))
