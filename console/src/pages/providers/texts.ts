/** The labels of the fields of an account, by the paths of the API; those of its kind of provider come from the catalogue. */
export const accountLabels = {
  name: 'Name',
  description: 'Description',
  key: 'API key',
  tags: 'Tags',
} as const

export const texts = {
  needs: (right: string) => `Needs ${right}. Ask an owner of the organisation.`,
  needsHere: (right: string, place: string) => `Needs ${right}. Ask an admin of ${place}.`,
  saved: 'Saved. Every process follows within a second.',
  untested: 'Save first: stored secrets are not shown here, so that they can only be tested where they are.',
  noModels: [
    'No model has settings here.',
    'Requests may use every model of the provider. Add one to price it, or to allow only those that are enabled.',
  ],
  noWorkspaces: ['No workspaces.', 'Access is given to workspaces; there is none yet.'],
  unused: 'Nothing uses it.',
} as const
