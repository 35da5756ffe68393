// Draws the description of this very process. Keys that somebody enters stay in the page: they are in no storage, and gone with it.
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  tryItOutEnabled: true,
  validatorUrl: null,
})
