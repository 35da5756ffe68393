/** The credential that SDKs send when they were given no key of the provider. */
export const placeholder = 'DUMMY-KEY'
