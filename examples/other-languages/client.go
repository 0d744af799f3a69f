// A call with a token that is requested once and reused until it expires, in Go with its standard library: go run client.go
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

var (
	client  = http.Client{Timeout: 10 * time.Second}
	token   string
	renewAt time.Time
)

func setting(name string) string { return os.Getenv("CREDIT_DATA_" + name) }

func accessToken() (string, error) {
	if time.Now().Before(renewAt) {
		return token, nil
	}
	response, err := client.PostForm(setting("AUTH_V2_URL")+"/oauth2/token", url.Values{
		"client_id":     {setting("CLIENT_ID")},
		"client_secret": {setting("CLIENT_SECRET")},
		"audience":      {setting("AUDIENCE")},
		"scope":         {setting("SCOPES")},
		"grant_type":    {"client_credentials"},
	})
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("token: %s", response.Status)
	}
	var granted struct {
		AccessToken string        `json:"access_token"`
		ExpiresIn   time.Duration `json:"expires_in"`
	}
	if err := json.NewDecoder(response.Body).Decode(&granted); err != nil {
		return "", err
	}
	token, renewAt = granted.AccessToken, time.Now().Add(granted.ExpiresIn*time.Second*9/10)
	return token, nil
}

func call(path string, retry bool) (int, string, error) {
	bearer, err := accessToken()
	if err != nil {
		return 0, "", err
	}
	request, err := http.NewRequest(http.MethodGet, setting("BASE_URL")+path, nil)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+bearer)
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusUnauthorized && retry {
		renewAt = time.Time{} // the API rejected the token: request another one, once
		return call(path, false)
	}
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func main() {
	for _, path := range []string{"/data-access/consumers/42", "/furnishment/submissions/7"} {
		status, body, err := call(path, true)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(status, body)
	}
}
