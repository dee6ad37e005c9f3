/** The code of a system error, such as `EACCES`. */
export function systemCodeOf(error: unknown): string | undefined {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown }
  return typeof code === 'string' && typeof syscall === 'string' ? code : undefined
}

/** A system error as a sentence; undefined for any other or unknown error. */
export function systemText(error: unknown): string | undefined {
  const reason = reasons[systemCodeOf(error) ?? '']
  if (reason === undefined) return undefined
  const { path, hostname, address, port } = error as {
    readonly path?: string
    readonly hostname?: string
    readonly address?: string
    readonly port?: number
  }
  const host = hostname ?? address
  const what = path ?? (host === undefined || port === undefined ? host : `${host}:${port}`)
  return what === undefined ? reason : `${what}: ${reason}`
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of this path is not a directory',
  EISDIR: 'this is a directory, not a file',
  EEXIST: 'this already exists',
  ENAMETOOLONG: 'this name is too long',
  ELOOP: 'its symbolic links lead in a circle',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'this process has too many open files',
  ENFILE: 'the system has too many open files',
  EADDRINUSE: 'another program already listens at this address',
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'no host has this name',
  EAI_AGAIN: 'the name server does not answer',
  ECONNREFUSED: 'nothing listens at this address',
}
