/** A value that survives a round trip through JSON text. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
