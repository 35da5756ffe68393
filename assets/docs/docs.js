// Draws the description of this very process. Keys that somebody enters stay in the page: they are in no storage, and gone with it.
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
