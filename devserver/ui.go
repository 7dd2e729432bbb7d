package devserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
)

// webUI is the Temporal Web UI on our own http.Server. The stock one ends the process when its port is taken and
// answers to any Host header, which lets a web page reach it by DNS rebinding.
type webUI struct {
	ln  net.Listener
	srv *http.Server
	URL string
}

// listenUI binds the UI's port: the configured one, or any free one when that is taken and the port is not strict.
func listenUI(ctx context.Context, c *Config) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", net.JoinHostPort(c.Server.IP, strconv.Itoa(c.UI.Port)))
	if err == nil {
		return ln, nil
	}
	if c.UI.Strict {
		return nil, fmt.Errorf("listen for the Web UI on port %d: %w (leave --ui-port out to take a free one)", c.UI.Port, err)
	}
	ln, err = lc.Listen(ctx, "tcp", net.JoinHostPort(c.Server.IP, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for the Web UI: %w", err)
	}
	return ln, nil
}

func newWebUI(ln net.Listener, grpcAddress, namespace string) (*webUI, error) {
	port := ln.Addr().(*net.TCPAddr).Port
	provider, err := uiconfig.NewConfigProviderWithRefresh(&uiProvider{cfg: &uiconfig.Config{
		TemporalGRPCAddress: grpcAddress,
		EnableUI:            true,
		DefaultNamespace:    namespace,
		DisableNewsFetch:    true, // no phoning home
		NotifyOnNewVersion:  false,
		HideLogs:            true,
		CORS:                uiconfig.CORS{CookieInsecure: true}, // plain HTTP on loopback
	}})
	if err != nil {
		return nil, fmt.Errorf("configure the Web UI: %w", err)
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Use(middleware.Recover(), middleware.Gzip(), middleware.Secure())
	e.Use(csrf.EnsureTokenCookie(false), middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, false)))
	route.SetHealthRoute(e)
	if err := route.SetAPIRoutes(e, provider, nil); err != nil {
		return nil, fmt.Errorf("set up the Web UI: %w", err)
	}
	route.SetAuthRoutes(e, provider)
	assets, err := ui.Assets()
	if err == nil {
		assets, err = fs.Sub(assets, "local")
	}
	if err != nil {
		return nil, fmt.Errorf("find the Web UI's assets: %w", err)
	}
	if err := route.SetUIRoutes(e, "", assets, provider); err != nil {
		return nil, fmt.Errorf("set up the Web UI: %w", err)
	}
	route.SetRenderRoute(e, "/")
	return &webUI{
		ln:  ln,
		srv: &http.Server{Handler: hostCheck(port, e), ReadHeaderTimeout: 10 * time.Second},
		URL: fmt.Sprintf("http://127.0.0.1:%d", port),
	}, nil
}

// serve runs until Close; a failure other than that goes to report.
func (w *webUI) serve(report func(error)) {
	go func() {
		if err := w.srv.Serve(w.ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
			report(fmt.Errorf("serve the Web UI: %w", err))
		}
	}()
}

func (w *webUI) close(ctx context.Context) {
	if err := w.srv.Shutdown(ctx); err != nil {
		_ = w.srv.Close() // long polls of an open browser tab outlive any patience
	}
}

// hostCheck answers 421 unless the request names this very loopback address: a page on the web that points its own
// name at 127.0.0.1 then reaches nothing.
func hostCheck(port int, next http.Handler) http.Handler {
	p := strconv.Itoa(port)
	allowed := map[string]bool{"127.0.0.1:" + p: true, "localhost:" + p: true, "[::1]:" + p: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowed[r.Host] {
			http.Error(w, "421 misdirected request: this server answers to 127.0.0.1 and localhost only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

type uiProvider struct{ cfg *uiconfig.Config }

func (p *uiProvider) GetConfig() (*uiconfig.Config, error) { return p.cfg, nil }
