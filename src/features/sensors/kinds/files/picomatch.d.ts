/** The used part of picomatch, which has no types. */
declare module 'picomatch' {
  interface Picomatch {
    (glob: string): (path: string) => boolean
    scan(glob: string): { readonly base: string; readonly isGlob: boolean; readonly negated: boolean }
  }
  const picomatch: Picomatch
  export default picomatch
}
