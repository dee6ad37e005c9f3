/** One feature of Rota: everything it adds to the engine, the app and the command line. */
export interface Feature {
  /** Its name, which is also the name of its folder. */
  readonly name: string
}
