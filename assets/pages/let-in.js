// Shows a person which program asks to use an MCP server as them, and sends their decision. What the program says of itself goes into the page as text.
const form = document.querySelector('form')
const fault = document.querySelector('#fault')
const chosen = document.querySelector('#server')
const put = (id, text) => (document.querySelector(`#${id}`).textContent = text)
const request = new URLSearchParams(location.hash.slice(1)).get('request') ?? ''
const path = `/oauth/requests/${encodeURIComponent(request)}`

async function ask(method, address, body, headers = {}) {
  const answer = await fetch(address, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const read = await answer.json().catch(() => null)
  if (!answer.ok) throw new Error(read?.error?.message ?? `The answer was ${answer.status}.`)
  return read
}

function showTools(servers) {
  const server = servers.find(({ id }) => id === chosen.value)
  const more = server.tools_total - server.tools.length
  put('tools', server.tools_total === 0 ? 'none' : server.tools.join(', ') + (more > 0 ? ` and ${more} more` : ''))
}

async function show() {
  const { client, redirect, servers } = await ask('GET', path)
  put('client', client.name ?? client.host)
  put('host', client.host)
  put('redirect', redirect.host)
  document.querySelector('#loopback').hidden = !redirect.is_loopback
  for (const { id, name, workspace } of servers) chosen.append(new Option(`${name} (${workspace.name})`, id))
  chosen.addEventListener('change', () => showTools(servers))
  if (servers.length === 0) {
    fault.textContent = 'You may use no MCP server at the address for which this program asks. A manager of its workspace gives access.'
    document.querySelector('button[value=allow]').hidden = true
  } else showTools(servers)
  form.hidden = false
}

async function decide(decision) {
  fault.textContent = ''
  const { csrf_token } = await ask('GET', '/auth/me')
  const body = decision === 'allow' ? { decision, mcp_server_id: chosen.value } : { decision }
  const { redirect_to } = await ask('POST', path, body, { 'x-csrf-token': csrf_token })
  location.assign(redirect_to)
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  return decide(event.submitter?.value === 'allow' ? 'allow' : 'deny').catch((error) => (fault.textContent = error.message))
})

show().catch((error) => (fault.textContent = error.message))
