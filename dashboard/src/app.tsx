import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import { lazy, Suspense, type ComponentType, type ReactNode } from 'react'
import { Route, Router, Switch } from 'wouter'
import { hrefOf, useHashPath, useHashSearch } from './data/location.js'
import { ZoneProvider } from './data/zone.js'
import { Skeleton } from './parts/states.js'
import { ToastProvider } from './parts/toast.js'
import { pages } from './pages/index.js'
import { PageBoundary, PageNotLoaded } from './shell/page-boundary.js'
import { Shell } from './shell/shell.js'
import { SignedIn } from './shell/signed-in.js'
import { UnknownPage } from './shell/unknown-page.js'

const routes: readonly {
  readonly path: string
  readonly title: string
  readonly Component: ComponentType
}[] = pages.map(({ path, title, load }) => ({ path, title, Component: lazy(() => load().catch(notLoaded)) }))

function notLoaded(cause: unknown): never {
  throw new PageNotLoaded('the code of this page did not arrive', { cause })
}

/** The whole application. */
export function App({ client }: { client: QueryClient }): ReactNode {
  return (
    <QueryClientProvider client={client}>
      <Router hook={useHashPath} searchHook={useHashSearch} hrefs={hrefOf}>
        <ZoneProvider>
          <ToastProvider>
            <SignedIn>
              <Shell>
                <Switch>
                  {routes.map(({ path, title, Component }) => (
                    <Route key={path} path={path}>
                      <PageBoundary title={title}>
                        <Suspense fallback={<Skeleton rows={8} />}>
                          <Component />
                        </Suspense>
                      </PageBoundary>
                    </Route>
                  ))}
                  <Route>
                    <UnknownPage />
                  </Route>
                </Switch>
              </Shell>
            </SignedIn>
          </ToastProvider>
        </ZoneProvider>
      </Router>
    </QueryClientProvider>
  )
}
