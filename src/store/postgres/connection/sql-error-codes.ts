/*
 * The error codes that the functions of the schema raise and the code that calls them knows.
 */
/** Somebody has to be the only writer for this. */
export const notAloneState = 'RT001'

/** The definitions are no longer those that the caller knows. */
export const changedState = 'RT002'

/** Something about the runs is not as it usually is. */
export const unusualState = 'RT003'

/** The server's own: a run of that id exists. */
export const existsState = '23505'
